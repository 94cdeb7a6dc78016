"""What a caller gets back."""
