"""What runs in the process of a TaskWeaver agent."""
