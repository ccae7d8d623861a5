output "zones" {
  value = [for zone in terraform_data.zone : zone.output]
}
