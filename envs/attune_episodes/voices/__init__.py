"""Voices: the request to a language model to word a packet of the simulator, and the check of its text.

This layer opens no connections; `attune_env.endpoint_voice` calls a server.
"""

from attune_episodes.voices.check import checked, misfits
from attune_episodes.voices.request import VoiceRequest, read_wording

__all__ = ["VoiceRequest", "checked", "misfits", "read_wording"]
