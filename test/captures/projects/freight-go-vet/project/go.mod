module example.test/freight

go 1.20
