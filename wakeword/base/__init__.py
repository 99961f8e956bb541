"""What every room uses: errors, types, checks, text and files. Imports nothing of the package."""
