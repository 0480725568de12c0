package load_test

import "strings"

// workspaces are further such projects: they have a go.work file, or modules that require others in several versions.
var workspaces = map[string]archived{
	"workspace": {archive: `
-- go.work --
go 1.26
use (
	.
	./api
	./tools
)
replace example.com/dep => ./fork
-- go.mod --
module example.com/m
go 1.26
require example.com/dep v1.0.0
-- a.go --
package m
import (
	_ "example.com/dep"
	_ "example.com/m/api/v1"
)
-- api/go.mod --
module example.com/m/api
go 1.26
-- api/v1/v1.go --
package v1
-- tools/go.mod --
module example.com/tools
go 1.26
-- tools/t.go --
package tools
import _ "example.com/m"
-- fork/dep.go --
package dep
`},
	"workspace replaces all versions": {archive: `
-- go.work --
go 1.26
use .
replace example.com/dep => ./modcache/fork
-- go.mod --
module example.com/m
go 1.26
require example.com/dep v1.0.0
replace example.com/dep v1.0.0 => ./modcache/other
-- a.go --
package m
import _ "example.com/dep"
-- modcache/fork/go.mod --
module example.com/dep
-- modcache/fork/dep.go --
package dep
-- modcache/other/go.mod --
module example.com/dep
-- modcache/other/dep.go --
package dep
`},
	"workspace replaces another version": {archive: `
-- go.work --
go 1.26
use .
replace example.com/dep v1.1.0 => ./modcache/fork
-- go.mod --
module example.com/m
go 1.26
require example.com/dep v1.0.0
replace example.com/dep => ./modcache/other
-- a.go --
package m
-- modcache/fork/go.mod --
module example.com/dep
-- modcache/fork/dep.go --
package dep
-- modcache/other/go.mod --
module example.com/dep
-- modcache/other/dep.go --
package dep
`},
	"versions of a workspace": {archive: workspace + `
-- a/go.mod --
module example.com/a
go 1.26
require (
	example.com/pruned v0.1.0
	example.com/deep v0.1.0
	example.com/high v0.10.0
)
-- a/a.go --
package a
import (
	_ "example.com/pruned"
	_ "example.com/deep"
	_ "example.com/high"
)
-- b/go.mod --
module example.com/b
go 1.26
require (
	example.com/asks v0.2.0
	example.com/high v0.9.0
)
-- b/b.go --
package b
import (
	_ "example.com/asks"
	_ "example.com/high"
)
`},
	"versions of a workspace whose modules agree": {archive: workspace + `
-- a/go.mod --
module example.com/a
go 1.26
require example.com/pruned v0.1.0
-- a/a.go --
package a
import _ "example.com/pruned"
-- b/go.mod --
module example.com/b
go 1.26
require example.com/asks v0.2.0
-- b/b.go --
package b
import _ "example.com/asks"
`},
	"versions of a workspace with old modules": {archive: workspace + `
-- a/go.mod --
module example.com/a
go 1.16
require example.com/chain v0.1.0
exclude example.com/high v0.10.0
-- a/a.go --
package a
import (
	_ "example.com/chain"
	_ "example.com/deep"
	_ "example.com/high"
)
-- b/go.mod --
module example.com/b
go 1.26
require example.com/high v0.9.0
-- b/b.go --
package b
import _ "example.com/high"
`},
	"versions of an old module": {archive: `
-- go.mod --
module example.com/m
go 1.16
require (
	example.com/chain v0.1.0
	example.com/deep v0.2.0
	example.com/pruned v0.2.0
)
replace (
	example.com/chain v0.1.0 => ./modcache/chain
	example.com/asks v0.2.0 => ./modcache/asks
	example.com/deep v0.1.0 => ./modcache/deep1
	example.com/deep v0.2.0 => ./modcache/deep2
	example.com/pruned v0.1.0 => ./modcache/pruned1
	example.com/pruned v0.2.0 => ./modcache/pruned2
	example.com/high v0.9.0 => ./modcache/high9
	example.com/high v0.10.0 => ./modcache/high10
)
-- m.go --
package m
import (
	_ "example.com/chain"
	_ "example.com/deep"
	_ "example.com/high"
	_ "example.com/pruned"
)
` + replacements, env: map[string]string{"GOFLAGS": "-mod=mod"}},
	"a module cache with a slash": {archive: vendored, env: map[string]string{"GOFLAGS": "-mod=mod", "GOMODCACHE": "modcache/"}},
	"a release candidate":         {archive: strings.Replace(vendored, "go 1.26", "go 1.26rc1", 1)},
	"vendor of a workspace": {archive: `
-- go.mod --
module example.com/m
go 1.26
require example.com/dep v1.0.0
replace example.com/dep => ./modcache/fork
-- a.go --
package m
import _ "example.com/dep"
-- modcache/fork/go.mod --
module example.com/dep
-- modcache/fork/dep.go --
package dep
-- vendor/modules.txt --
## workspace
# example.com/dep v1.0.0 => ./modcache/fork
## explicit
example.com/dep
-- vendor/example.com/dep/dep.go --
package dep
`},
	"vendor of a module in a workspace": {archive: `
-- go.work --
go 1.26
use .
-- go.mod --
module example.com/m
go 1.26
require example.com/dep v1.0.0
replace example.com/dep => ./modcache/fork
-- a.go --
package m
import _ "example.com/dep"
-- modcache/fork/go.mod --
module example.com/dep
-- modcache/fork/dep.go --
package dep
-- vendor/modules.txt --
# example.com/dep v1.0.0 => ./modcache/fork
## explicit
example.com/dep
-- vendor/example.com/dep/dep.go --
package dep
`},
	"vendored workspace": {archive: `
-- go.work --
go 1.26
use .
-- go.mod --
module example.com/m
go 1.26
require example.com/dep v1.0.0
replace example.com/dep v1.0.0 => ./modcache/fork
-- a.go --
package m
import _ "example.com/dep"
-- modcache/fork/go.mod --
module example.com/dep
-- modcache/fork/dep.go --
package dep
-- vendor/modules.txt --
## workspace
# example.com/dep v1.0.0 => ./modcache/fork
## explicit
example.com/dep
-- vendor/example.com/dep/dep.go --
package dep
`},
	"workspace off": {archive: `
-- go.work --
go 1.26
use ./other
-- go.mod --
module example.com/m
go 1.26
-- a.go --
package m
`, env: map[string]string{"GOWORK": "off"}},
}

// workspace has modules of which some require others in several versions.
const workspace = `
-- go.work --
go 1.26
use (
	./a
	./b
)
replace (
	example.com/chain v0.1.0 => ./modcache/chain
	example.com/asks v0.2.0 => ./modcache/asks
	example.com/deep v0.1.0 => ./modcache/deep1
	example.com/deep v0.2.0 => ./modcache/deep2
	example.com/pruned v0.1.0 => ./modcache/pruned1
	example.com/pruned v0.2.0 => ./modcache/pruned2
	example.com/high v0.9.0 => ./modcache/high9
	example.com/high v0.10.0 => ./modcache/high10
)
` + replacements

const replacements = `
-- modcache/chain/go.mod --
module example.com/chain
go 1.16
require (
	example.com/asks v0.2.0
	example.com/high v0.10.0
)
-- modcache/chain/chain.go --
package chain
-- modcache/asks/go.mod --
module example.com/asks
go 1.26
require (
	example.com/pruned v0.2.0
	example.com/deep v0.2.0
)
-- modcache/asks/asks.go --
package asks
-- modcache/deep1/go.mod --
module example.com/deep
-- modcache/deep1/deep.go --
package deep
-- modcache/deep2/go.mod --
module example.com/deep
-- modcache/deep2/deep.go --
package deep
-- modcache/pruned1/go.mod --
module example.com/pruned
-- modcache/pruned1/pruned.go --
package pruned
-- modcache/pruned2/go.mod --
module example.com/pruned
-- modcache/pruned2/pruned.go --
package pruned
-- modcache/high9/go.mod --
module example.com/high
-- modcache/high9/high.go --
package high
-- modcache/high10/go.mod --
module example.com/high
-- modcache/high10/high.go --
package high
`
