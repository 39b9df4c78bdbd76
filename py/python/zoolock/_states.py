"""The states of sessions and guards."""

from typing import Literal, TypeAlias

SessionState: TypeAlias = Literal["connecting", "connected", "suspended", "expired", "closed"]
"""`suspended` while a session moves to another server, `expired` until there is a new one."""

GuardState: TypeAlias = Literal["held", "suspended", "lost", "released"]
"""A guard may be believed in while `held` or `suspended`; `lost` and `released` are final."""
