// Package browser tests the HTML page of `slipway prove` in a browser: with the keyboard, in light and dark, with a
// thousand plans and with hostile text.
//
//	go test -C test/browser ./...
//	go test -C test/browser ./... -args -screenshots FOLDER
//
// The tests start a Chromium that is in PATH, and skip themselves if there is none; they install nothing. They are in a
// module of their own, because no other test needs the library that drives a browser.
package browser
