"""The program: command line, service, doctor and demo."""
