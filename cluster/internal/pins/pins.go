//go:build never

// Package pins is never built. It names a package of each module that nothing
// here imports but that must stay at Kubernetes' own staging version: without
// these lines `go mod tidy` would drop the requirements, other dependencies would
// pull in other versions of them, and k8s.io/kubernetes would no longer compile.
package pins

import (
	_ "k8s.io/cli-runtime/pkg/printers"
	_ "k8s.io/code-generator/pkg/util"
	_ "k8s.io/sample-apiserver/pkg/apis/wardle"
)
