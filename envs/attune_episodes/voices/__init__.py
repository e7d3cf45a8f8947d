"""Voices: what a language model is asked to word a packet of the simulator, and how its text is read again.

This floor opens no connection: `attune_env.endpoint_voice` asks a server.
"""

from attune_episodes.voices.check import checked, misfits
from attune_episodes.voices.request import VoiceRequest, read_wording

__all__ = ["VoiceRequest", "checked", "misfits", "read_wording"]
