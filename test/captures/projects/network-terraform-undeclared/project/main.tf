terraform {
  required_version = ">= 1.0"
}

locals {
  zones = ["a", "b"]
}

resource "terraform_data" "zone" {
  for_each = toset(local.zones)
  input    = "${var.prefix}-${each.key}"
}
