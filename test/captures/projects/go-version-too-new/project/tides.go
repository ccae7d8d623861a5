package tides

// Next gives the minutes until the next high tide.
func Next(minutesSinceHigh int) int {
	return 745 - minutesSinceHigh%745
}
