"""Agents that play Royal Casino, the trainer and the arena."""
