"""The protocol: settings, prompts, the plan of a conversation's requests, and the schemas of answers."""
