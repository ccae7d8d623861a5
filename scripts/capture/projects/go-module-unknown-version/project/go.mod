module example.test/feeds

go 1.22

require golang.org/x/text v0.917.0
