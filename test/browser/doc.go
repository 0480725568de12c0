// Package browser tests the HTML page of `slipway prove` and the page of `slipway explain --web` in a browser: with the
// keyboard, in light and dark, with a thousand plans or ten thousand objects, and with hostile text.
//
//	go test -C test/browser ./...
//	go test -C test/browser ./... -args -screenshots FOLDER
//
// The tests start the browser that CHROME names, or a Chromium that is in PATH, and fail if there is none; they install
// nothing. They are in a module of their own, because no other test needs the library that drives a browser.
package browser
