package kustomizefs

import (
	"bytes"
	"reflect"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/openapi/kubernetesapi"
	"sigs.k8s.io/kustomize/kyaml/openapi/kubernetesapi/v1_21_2"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// TestSkipPaths: without the paths of its schema kustomize knows the same of every kind: how it is merged, and whether
// it has a namespace.
func TestSkipPaths(t *testing.T) {
	assets, whole := kubernetesapi.OpenAPIMustAsset, v1_21_2.MustAsset
	if len(assets) != 1 {
		t.Errorf("kustomize has schemas of %d versions of Kubernetes: skipPaths changes that of the default alone", len(assets))
	}
	before := assets[kubernetesapi.DefaultOpenAPI] // also without paths, if another test has built something
	t.Cleanup(func() { assets[kubernetesapi.DefaultOpenAPI] = before; openapi.ResetOpenAPI() })
	read := func() (definitions any, scopes map[yaml.TypeMeta][2]bool) {
		openapi.ResetOpenAPI()
		scopes = map[yaml.TypeMeta][2]bool{}
		for _, d := range openapi.Schema().Definitions {
			kinds, _ := d.Extensions["x-kubernetes-group-version-kind"].([]any)
			for _, kind := range kinds {
				meta := typeMeta(kind.(map[string]any))
				namespaced, known := openapi.IsNamespaceScoped(meta)
				scopes[meta] = [2]bool{namespaced, known}
			}
		}
		return openapi.Schema().Definitions, scopes
	}
	assets[kubernetesapi.DefaultOpenAPI] = whole
	definitions, scopes := read()
	var asked int
	skipPaths()
	lean := assets[kubernetesapi.DefaultOpenAPI]
	assets[kubernetesapi.DefaultOpenAPI] = func(name string) []byte {
		asked++
		text := lean(name)
		if all := len(whole(name)); len(text) == 0 || len(text) > all/2 {
			t.Errorf("%d of %d bytes are left", len(text), all)
		}
		return text
	}
	leanDefinitions, leanScopes := read()
	if asked != 1 || len(scopes) < 100 {
		t.Errorf("the schema was read %d times, and it has %d kinds", asked, len(scopes))
	}
	if !reflect.DeepEqual(definitions, leanDefinitions) {
		t.Error("other definitions")
	}
	if !reflect.DeepEqual(scopes, leanScopes) {
		t.Error("other kinds have a namespace")
	}
}

func typeMeta(kind map[string]any) yaml.TypeMeta {
	version := kind["version"].(string)
	if group := kind["group"].(string); group != "" {
		version = group + "/" + version
	}
	return yaml.TypeMeta{APIVersion: version, Kind: kind["kind"].(string)}
}

func TestWithout(t *testing.T) {
	field := func(number protowire.Number, text string) []byte {
		return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), text)
	}
	message := bytes.Join([][]byte{field(1, "a"), field(8, "b"), field(9, "c"), field(8, "d")}, nil)
	if got, want := without(8, message), append(field(1, "a"), field(9, "c")...); !bytes.Equal(got, want) {
		t.Errorf("got %q, not %q", got, want)
	}
	if broken := message[:len(message)-1]; !bytes.Equal(without(8, broken), broken) {
		t.Error("a broken message was changed")
	}
}
