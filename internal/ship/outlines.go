package ship

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// acceptMetadata asks for the metadata of objects alone: in protobuf, in JSON, or, from servers that cannot reduce
// objects to it, within whole objects.
const acceptMetadata = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," +
	"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// Outlines calls each for the objects of a resource in a namespace, or in all if that is empty, from the server's
// cache: as of now or a moment ago. Of their metadata it has name, namespace, UID, owners, finalizers and the time of
// deletion. Labels, annotations and managed fields are most of an answer, and decoding them is most of the work, so
// that this takes a fraction of the time of package metadata of client-go.
func (c *Cluster) Outlines(ctx context.Context, of Served, namespace string, each func(metav1.ObjectMeta)) error {
	at := []string{"/apis", of.Group, of.Version}
	if of.Group == "" {
		at = []string{"/api", of.Version}
	}
	if namespace != "" {
		at = append(at, "namespaces", namespace)
	}
	text, err := c.catalog.client.Get().AbsPath(append(at, of.Resource)...).SetHeader("Accept", acceptMetadata).Param("resourceVersion", "0").Do(ctx).Raw()
	if err != nil {
		return err
	}
	if err := outlines(text, each); err != nil {
		return fmt.Errorf("reading %s: %w", of.Resource, err)
	}
	return nil
}

// protobufMagic begins an answer in protobuf, and a message of [runtime.Unknown] follows:
// https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding.
var protobufMagic = []byte("k8s\x00")

// The numbers of fields, of k8s.io/apimachinery's pkg/apis/meta/v1/generated.proto.
const (
	listItems    protowire.Number = 2 // of PartialObjectMetadataList
	itemMetadata protowire.Number = 1 // of PartialObjectMetadata
)

// outlineFields are those of ObjectMeta.
var outlineFields = []protowire.Number{
	1,  // name
	3,  // namespace
	5,  // uid
	9,  // deletionTimestamp
	13, // ownerReferences
	14, // finalizers
}

var errNoMetadata = errors.New("the server's answer is no list of metadata")

// outlines decodes a list of metadata.
func outlines(text []byte, each func(metav1.ObjectMeta)) error {
	text, binary := bytes.CutPrefix(text, protobufMagic)
	if !binary {
		var list metav1.PartialObjectMetadataList
		err := json.Unmarshal(text, &list)
		for _, item := range list.Items {
			each(item.ObjectMeta)
		}
		return err
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(text); err != nil {
		return err
	}
	if envelope.Kind != "PartialObjectMetadataList" {
		return fmt.Errorf("%w, but a %s", errNoMetadata, envelope.Kind)
	}
	return eachField(envelope.Raw, func(number protowire.Number, _, item []byte) error {
		if number != listItems {
			return nil
		}
		return eachField(item, func(number protowire.Number, _, meta []byte) error {
			if number != itemMetadata {
				return nil
			}
			found, err := outline(meta)
			if err == nil {
				each(found)
			}
			return err
		})
	})
}

// outline decodes metadata of an object.
func outline(text []byte) (meta metav1.ObjectMeta, err error) {
	kept := make([]byte, 0, len(text))
	if err := eachField(text, func(number protowire.Number, whole, _ []byte) error {
		if slices.Contains(outlineFields, number) {
			kept = append(kept, whole...)
		}
		return nil
	}); err != nil {
		return meta, err
	}
	return meta, meta.Unmarshal(kept)
}

// eachField calls each for the fields of a message: with all of a field, and with the value of one that has a length.
func eachField(message []byte, each func(number protowire.Number, whole, value []byte) error) error {
	for len(message) > 0 {
		number, kind, head := protowire.ConsumeTag(message)
		if head < 0 {
			return protowire.ParseError(head)
		}
		size := protowire.ConsumeFieldValue(number, kind, message[head:])
		if size < 0 {
			return protowire.ParseError(size)
		}
		var value []byte
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(message[head:])
		}
		if err := each(number, message[:head+size], value); err != nil {
			return err
		}
		message = message[head+size:]
	}
	return nil
}
