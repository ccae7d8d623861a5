package freight

func Total(loads []Load) float64 {
	var total float64
	for _, load := range loads {
		total += load.Tons
	}
	return total
}
