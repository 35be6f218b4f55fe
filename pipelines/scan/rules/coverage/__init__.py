"""What a scan did not see: estimates with intervals."""
