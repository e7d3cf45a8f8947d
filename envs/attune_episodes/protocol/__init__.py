"""What is asked: settings, prompts, and the plan of requests of a conversation."""
