"""``python -m cwgpu``."""

from cwgpu.cli.main import main

main()
