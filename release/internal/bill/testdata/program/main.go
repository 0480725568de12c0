// Command program is one with a module besides its own.
package main

import "golang.org/x/mod/semver"

func main() { println(semver.Canonical("v1")) }
