// Package delta keeps what a write changed about a stored object, in a form that is cheap to make: the parts of the
// object that differ, before and after, as they are stored. The changes of single fields are made of it when they are
// asked for.
//
//	before, _ := delta.Parse(stored)
//	after, _ := delta.Parse(storedThen)
//	body := delta.Between(before, after, mask)
//	changes, more, err := delta.Changes(body, toJSON, "")
//
// Objects are stored as JSON, or in Kubernetes' envelope of protobuf. Managed fields and the generation are left out.
package delta

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// ErrForm says that a value is no object in a form that is known; encrypted ones are not.
var ErrForm = errors.New("not a stored object")

// Object is a stored object, cut into parts.
type Object struct {
	Kind, APIVersion string
	UID              string
	Owners           []string // UIDs
	Size             int      // of the stored value

	envelope []byte // of protobuf: the type; nil for JSON
	parts    []part // by name
}

// part is what is stored below one key of the object, or of one field of protobuf with its tag.
type part struct {
	name  string
	value []byte
}

var protobufMagic = []byte("k8s\x00")

// Parse cuts a stored value into parts, which may share its memory.
func Parse(value []byte) (*Object, error) {
	o := &Object{Size: len(value)}
	var err error
	if message, ok := bytes.CutPrefix(value, protobufMagic); ok {
		err = o.parseProtobuf(message)
	} else {
		err = o.parseJSON(value)
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(o.parts, func(a, b part) int { return cmp.Compare(a.name, b.name) })
	return o, nil
}

// The numbers of fields, in k8s.io/apimachinery's pkg/runtime/generated.proto and pkg/apis/meta/v1/generated.proto.
const (
	unknownType, unknownRaw    = 1, 2
	typeVersion, typeKind      = 1, 2
	objectMeta                 = 1 // of every kind
	metaUID, metaGeneration    = 5, 7
	metaAnnotations            = 12
	metaOwners, metaManaged    = 13, 17
	entryKey                   = 1 // of a map
	ownerUID                   = 4
	metadataPart, protobufBase = "1", 10
)

// fields calls each for the fields of a message, with their values and with tag and value.
func fields(message []byte, each func(number protowire.Number, value, whole []byte)) error {
	for len(message) > 0 {
		number, form, size := protowire.ConsumeField(message)
		if size < 0 {
			return fmt.Errorf("%w: %w", ErrForm, protowire.ParseError(size))
		}
		var value []byte
		if form == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(message)
			value, _ = protowire.ConsumeBytes(message[tag:])
		}
		each(number, value, message[:size])
		message = message[size:]
	}
	return nil
}

func (o *Object) parseProtobuf(message []byte) error {
	var raw []byte
	err := fields(message, func(number protowire.Number, value, _ []byte) {
		switch number {
		case unknownType:
			o.envelope = append([]byte{}, value...)
		case unknownRaw:
			raw = value
		}
	})
	if err != nil {
		return err
	}
	err = fields(o.envelope, func(number protowire.Number, value, _ []byte) {
		switch number {
		case typeVersion:
			o.APIVersion = string(value)
		case typeKind:
			o.Kind = string(value)
		}
	})
	if err != nil || o.envelope == nil {
		return errors.Join(ErrForm, err)
	}
	return o.cut(raw)
}

// cut cuts the message of an object into parts.
func (o *Object) cut(raw []byte) error {
	var inner error
	begin, end := 0, 0 // of the fields of one number
	err := fields(raw, func(number protowire.Number, value, whole []byte) {
		name := strconv.FormatInt(int64(number), protobufBase)
		end += len(whole)
		if n := len(o.parts); n > 0 && o.parts[n-1].name == name && number != objectMeta {
			o.parts[n-1].value = raw[begin:end]
			return
		}
		begin = end - len(whole)
		if number == objectMeta {
			value, inner = o.metadata(value)
			whole = protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value)
		}
		o.parts = append(o.parts, part{name, whole})
	})
	return errors.Join(err, inner)
}

// metadata reads the metadata, and returns those that are kept.
func (o *Object) metadata(message []byte) (kept []byte, err error) {
	err = fields(message, func(number protowire.Number, value, whole []byte) {
		switch number {
		case metaGeneration, metaManaged:
			return
		case metaAnnotations:
			repeats := false
			_ = fields(value, func(number protowire.Number, key, _ []byte) { // a damaged one is kept
				repeats = repeats || number == entryKey && string(key) == lastApplied
			})
			if repeats {
				return
			}
		case metaUID:
			o.UID = string(value)
		case metaOwners:
			_ = fields(value, func(number protowire.Number, value, _ []byte) { // a damaged one has no owner
				if number == ownerUID {
					o.Owners = append(o.Owners, string(value))
				}
			})
		}
		kept = append(kept, whole...)
	})
	return kept, err
}

// JSON reports whether the object is stored as JSON.
func (o *Object) JSON() bool { return o.envelope == nil }

// DropRenewal forgets when a Lease was renewed: that is no change.
func (o *Object) DropRenewal() {
	const spec, renewTime = "2", 4
	for i, p := range o.parts {
		if p.name != spec || o.JSON() {
			continue
		}
		var kept []byte
		_ = fields(p.value, func(_ protowire.Number, value, _ []byte) { // one that is damaged differs
			_ = fields(value, func(number protowire.Number, _, whole []byte) {
				if number != renewTime {
					kept = append(kept, whole...)
				}
			})
		})
		o.parts[i].value = protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), kept)
	}
}
