module example.test/visitors

go 1.22
