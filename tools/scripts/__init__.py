"""Scripts that make shipped recordings and generated pages."""
