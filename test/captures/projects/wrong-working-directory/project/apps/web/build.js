console.log("built 3 pages")
