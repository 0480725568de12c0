package baseline

import (
	"bytes"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/cluster/etcd"
)

// Object says which object a key holds. The resource is empty where a value is none that
// can be read.
type Object struct {
	Key       []byte
	Resource  schema.GroupVersionResource
	Namespace string
	Name      string
	UID       types.UID
	Deleting  bool // it goes when its finalizers do
	// Defines is what the object, a CRD, adds to the API.
	Defines []schema.GroupVersionResource
	// Established says that the API has it, as far as the object knows.
	Established bool
}

// protobufMagic begins values in protobuf; others are JSON.
var protobufMagic = []byte("k8s\x00")

func (b *Baseline) object(p etcd.Pair) Object {
	o := Object{Key: p.Key}
	if raw, ok := bytes.CutPrefix(p.Value, protobufMagic); ok {
		o.readProtobuf(raw)
		return o
	}
	o.readJSON(p.Value, strings.TrimPrefix(string(p.Key), b.prefix+"/"))
	return o
}

// readProtobuf relies on the metadata being the first field of every object's message.
func (o *Object) readProtobuf(raw []byte) {
	var unknown runtime.Unknown
	var object metav1.PartialObjectMetadata
	if unknown.Unmarshal(raw) != nil || object.Unmarshal(unknown.Raw) != nil {
		return
	}
	plural, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(unknown.APIVersion, unknown.Kind))
	o.Resource = plural
	o.identify(object.ObjectMeta)
}

// readJSON takes the resource from the key, GROUP/RESOURCE/…: plurals of custom resources are
// their makers' choice.
func (o *Object) readJSON(value []byte, key string) {
	var object struct {
		metav1.PartialObjectMetadata `json:",inline"`

		Spec json.RawMessage `json:"spec"`
	}
	if json.Unmarshal(value, &object) != nil {
		return
	}
	group, rest, _ := strings.Cut(key, "/")
	resource, _, _ := strings.Cut(rest, "/")
	_, version, found := strings.Cut(object.APIVersion, "/")
	if !found {
		return
	}
	if group == "apiextensions.k8s.io" {
		version = "v1" // they are stored in a version that is not served any more
	}
	o.Resource = schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
	o.identify(object.ObjectMeta)
	if object.Kind == "CustomResourceDefinition" {
		o.define(object.Spec)
		o.Established = conditions(value)["Established"] == "True"
	}
}

func (o *Object) identify(m metav1.ObjectMeta) {
	o.Namespace, o.Name, o.UID, o.Deleting = m.Namespace, m.Name, m.UID, m.DeletionTimestamp != nil
}

func (o *Object) define(spec []byte) {
	var crd struct {
		Group    string                  `json:"group"`
		Names    struct{ Plural string } `json:"names"`
		Versions []struct {
			Name   string `json:"name"`
			Served bool   `json:"served"`
		} `json:"versions"`
	}
	if json.Unmarshal(spec, &crd) != nil {
		return
	}
	for _, v := range crd.Versions {
		if v.Served {
			o.Defines = append(o.Defines, schema.GroupVersionResource{Group: crd.Group, Version: v.Name, Resource: crd.Names.Plural})
		}
	}
}
