module avatar

go 1.19
