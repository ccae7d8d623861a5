module example.test/feeds

go 1.22

require (
	golang.org/x/net v0.28.0
	golang.org/x/text v0.17.0
)
