module example.test/slug

go 1.22

require golang.org/x/text v0.17.0
