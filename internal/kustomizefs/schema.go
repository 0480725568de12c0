package kustomizefs

import (
	"google.golang.org/protobuf/encoding/protowire"
	"sigs.k8s.io/kustomize/kyaml/openapi/kubernetesapi"
)

// paths is the number of the field "paths" in gnostic's openapi.v2.Document.
const paths protowire.Number = 8

// skipPaths has kustomize parse only the definitions of its Kubernetes schema, by which it merges patches. The paths
// are three quarters of it and say which kinds have a namespace. Kustomize has a list of its own for that, so it never
// asks them, but it parses them in every process that merges a patch.
func skipPaths() {
	read := kubernetesapi.OpenAPIMustAsset[kubernetesapi.DefaultOpenAPI]
	kubernetesapi.OpenAPIMustAsset[kubernetesapi.DefaultOpenAPI] = func(name string) []byte { return without(paths, read(name)) }
}

// without returns a protobuf message without a field. One that cannot be read is returned as it is, for its reader to
// report.
func without(field protowire.Number, message []byte) []byte {
	var kept []byte
	for rest := message; len(rest) > 0; {
		number, _, size := protowire.ConsumeField(rest)
		if size < 0 {
			return message
		}
		if number != field {
			kept = append(kept, rest[:size]...)
		}
		rest = rest[size:]
	}
	return kept
}
