"""What people see: pages, rendered here, that load nothing from anywhere else."""
