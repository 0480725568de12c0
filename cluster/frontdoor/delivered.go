package frontdoor

import (
	"bytes"
	"encoding/binary"
	"mime"

	"github.com/slipway-dev/slipway/cluster/objectmeta"
)

// deliveries reads the answer to a watch while it is written, and reports its events. It keeps the beginning of an
// event only.
type deliveries struct {
	said     Delivered
	put      func(Report)
	protobuf bool
	frame    []byte // the beginning of the event under way
	left     int    // bytes of it that are still to come; of protobuf only
}

// maxRead bounds, in bytes, what is read of an event. Metadata come first.
const maxRead = 16 << 10

// newDeliveries returns what reads an answer of a media type; nil if nothing can.
func newDeliveries(contentType string, said Delivered, put func(Report)) *deliveries {
	switch form, _, _ := mime.ParseMediaType(contentType); form { // an unreadable one has none
	case "application/json":
		return &deliveries{said: said, put: put}
	case "application/vnd.kubernetes.protobuf":
		return &deliveries{said: said, put: put, protobuf: true}
	}
	return nil
}

// scan reads the next piece.
func (d *deliveries) scan(p []byte) {
	for d != nil && len(p) > 0 {
		n, whole := d.take(p)
		p = p[n:]
		if whole {
			d.report()
			d.frame = d.frame[:0]
		}
	}
}

// take takes bytes of one event.
func (d *deliveries) take(p []byte) (n int, whole bool) {
	const length = 4 // of what comes before an event of protobuf
	switch {
	case !d.protobuf:
		i := bytes.IndexByte(p, '\n') // JSON has none inside
		if n, whole = i+1, i >= 0; !whole {
			n = len(p)
		}
	case d.left == 0:
		n = min(len(p), length-len(d.frame))
		if d.frame = append(d.frame, p[:n]...); len(d.frame) == length {
			d.left, d.frame = int(binary.BigEndian.Uint32(d.frame)), d.frame[:0]
		}
		return n, false
	default:
		n = min(len(p), d.left)
		d.left -= n
		whole = d.left == 0
	}
	d.frame = append(d.frame, p[:min(n, maxRead-len(d.frame))]...)
	return n, whole
}

func (d *deliveries) report() {
	kind, of := objectmeta.WatchEvent(d.frame, d.protobuf)
	if kind == "" || kind == "BOOKMARK" {
		return
	}
	said := d.said
	said.Type, said.Namespace, said.Name, said.ResourceVersion = kind, of.Namespace, of.Name, of.ResourceVersion
	d.put(said)
}
