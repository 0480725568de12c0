package deepcopy

// The packages in testdata, here and beside the other generators, are read and
// not imported, so `go mod tidy` does not see which modules they need.
import (
	_ "k8s.io/api/batch/v1"
	_ "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)
