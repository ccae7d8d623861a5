module example.test/tides

go 1.99
