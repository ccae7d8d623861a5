BEGIN { FS = ";" }
NF >= 2 { printf "%-24s %8.2f\n", $1, $2 }
