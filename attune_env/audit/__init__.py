"""The audit of a reward: play attacks against it, measure what each earns, and reach a verdict."""

from attune_env.audit.auditing import REFERENCE_SIZE, Audit, audit, policy_count, reference_world
from attune_env.audit.live import live_audit, live_policy_count, live_tables
from attune_env.audit.tables import audit_tables

__all__ = [
    "REFERENCE_SIZE",
    "Audit",
    "audit",
    "audit_tables",
    "live_audit",
    "live_policy_count",
    "live_tables",
    "policy_count",
    "reference_world",
]
