// Package journal reports what is written to the store of an API server: each change of an object, in order, by any
// client.
//
//	err := journal.Follow(ctx, store, "/registry", begun, func(c journal.Change) { … })
package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"

	extensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/slipway-dev/slipway/cluster/etcd"
)

// A Change is a write of an object.
type Change struct {
	Key      string // in the store, behind its prefix
	Revision int64  // also the object's resource version
	Created  bool
	Deleted  bool
	// Object is as it is stored, in the version that is stored, as JSON; nil if it was deleted, if it is larger than
	// [MaxObject], or of a kind that is not known.
	Object json.RawMessage
}

// MaxObject bounds, in bytes of JSON, the objects that are reported whole.
const MaxObject = 512 << 10

// Store is what is followed: an [*etcd.Server].
type Store interface {
	Follow(ctx context.Context, prefix string, from int64, begun func(ask func()), each func(etcd.Change)) error
}

// hidden are keys of what is no object of the API.
var hidden = []string{"/masterleases/", "/peerserverleases/", "/ranges/"}

// Hidden reports whether a key is of what is no object of the API.
func Hidden(key string) bool {
	return slices.ContainsFunc(hidden, func(h string) bool { return strings.HasPrefix(key, h) })
}

func all() []runtime.Decoder {
	return []runtime.Decoder{
		legacyscheme.Codecs.UniversalDeserializer(),
		serializer.NewCodecFactory(extensions.Scheme).UniversalDeserializer(),
		serializer.NewCodecFactory(aggregator.Scheme).UniversalDeserializer(),
	}
}

// Decoder returns what decodes values of the store to JSON.
func Decoder() func(value []byte) ([]byte, error) {
	decoders := sync.OnceValue(all)
	return func(value []byte) ([]byte, error) {
		if encoded := object(decoders(), value, math.MaxInt); encoded != nil {
			return encoded, nil
		}
		return nil, ErrObject
	}
}

// ErrObject says that a value is no object of a kind that is known.
var ErrObject = errors.New("not an object that can be read")

// Follow reports changes until ctx ends or the store stops, whose error it returns. It calls begun first: what is
// written from then on is reported.
func Follow(ctx context.Context, store Store, prefix string, begun func(), each func(Change)) error {
	decoders := all()
	return store.Follow(ctx, prefix+"/", 0, func(func()) { begun() }, func(c etcd.Change) {
		key := strings.TrimPrefix(string(c.Key), prefix)
		if Hidden(key) {
			return
		}
		each(Change{Key: key, Revision: c.Revision, Created: c.Created, Deleted: c.Removed, Object: object(decoders, c.Value, MaxObject)})
	})
}

// object is what a value of the store holds, if that is not larger than the limit.
func object(decoders []runtime.Decoder, value []byte, limit int) json.RawMessage {
	if !bytes.HasPrefix(value, []byte("k8s\x00")) {
		if len(value) > limit || !json.Valid(value) {
			return nil
		}
		return value
	}
	for _, d := range decoders {
		o, _, err := d.Decode(value, nil, nil)
		if err != nil {
			continue
		}
		encoded, err := json.Marshal(o)
		if err != nil || len(encoded) > limit {
			return nil
		}
		return encoded
	}
	return nil
}
