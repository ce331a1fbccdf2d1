"""One file a published question; each prints its numbers, and says what they were measured on."""
