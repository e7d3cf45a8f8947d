"""The audit of a reward: check its rules, play attacks, measure what each earns, and reach a verdict."""

from attune_env.audit.answers import RuleError, broken_rules
from attune_env.audit.auditing import Audit, audit, policy_count, total_seconds
from attune_env.audit.checks import audit_record, is_audit
from attune_env.audit.tables import audit_tables

__all__ = [
    "Audit",
    "RuleError",
    "audit",
    "audit_record",
    "audit_tables",
    "broken_rules",
    "is_audit",
    "policy_count",
    "total_seconds",
]
