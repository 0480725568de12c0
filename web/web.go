// Package web has the files of the page that `slipway explain --web` serves. They are built from TypeScript in src by
// `make web` and committed, so that Slipway compiles without Node.
package web

import (
	"embed"
	"io/fs"
)

//go:embed dist/index.html dist/page.js dist/page.css dist/licenses.txt
var dist embed.FS

// Files returns index.html and all that it loads.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is valid
	}
	return files
}
