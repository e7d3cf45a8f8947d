"""The audit of a reward: play attacks against it, measure what each earns, and reach a verdict."""

from attune_env.audit.auditing import Audit, audit, policy_count
from attune_env.audit.tables import audit_tables

__all__ = ["Audit", "audit", "audit_tables", "policy_count"]
