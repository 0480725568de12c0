package seed

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/cluster/etcd"
)

// prefixes are the keys that every fresh cluster has and that are the same in
// each. Left out are leases, endpoints, events and, with the configuration maps,
// the authorities of the recorded cluster.
var prefixes = []string{
	"/apiregistration.k8s.io/apiservices/",
	"/clusterrolebindings/", "/clusterroles/", "/rolebindings/", "/roles/",
	"/flowschemas/", "/prioritylevelconfigurations/",
	"/ipaddresses/", "/ranges/", "/servicecidrs/", "/services/specs/",
	"/namespaces/", "/priorityclasses/",
}

// Normalize makes a seed from all keys of a fresh cluster, which was started at
// the given time, below prefix: it selects what belongs into a seed and replaces
// UIDs and times by placeholders. The result depends on the Kubernetes version only.
func Normalize(kubernetes string, all []etcd.Pair, prefix string, started time.Time) Seed {
	s := Seed{Kubernetes: kubernetes}
	holders := newPlaceholders(started.Add(-time.Minute), time.Now().Add(time.Minute))
	for _, p := range all {
		key := strings.TrimPrefix(string(p.Key), prefix)
		if belongs(key) {
			s.Pairs = append(s.Pairs, etcd.Pair{Key: []byte(key), Value: holders.apply(p.Value)})
		}
	}
	return s
}

func belongs(key string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return false
}

// placeholderTime stands for every time in a seed. As seconds it takes five
// bytes in protobuf, like every time between 1978 and 3058, so that replacing it
// never changes the length of a message.
var placeholderTime = time.Date(2020, time.February, 2, 2, 2, 2, 0, time.UTC)

// placeholderUID is the prefix of the UIDs in a seed; a number follows.
const placeholderUID = "5eed5eed-0000-4000-8000-"

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// placeholders replaces what a recorded cluster had of its own. Values are
// protobuf messages or JSON; both hold UIDs as text of fixed length.
type placeholders struct {
	from, to time.Time
	uids     map[string]string
}

func newPlaceholders(from, to time.Time) *placeholders {
	return &placeholders{from: from, to: to, uids: map[string]string{}}
}

func (h *placeholders) apply(value []byte) []byte {
	value = uuid.ReplaceAllFunc(value, func(old []byte) []byte {
		uid, ok := h.uids[string(old)]
		if !ok {
			uid = fmt.Sprintf("%s%012x", placeholderUID, len(h.uids))
			h.uids[string(old)] = uid
		}
		return []byte(uid)
	})
	for at := h.from.Truncate(time.Second); !at.After(h.to); at = at.Add(time.Second) {
		value = replaceTime(value, at, placeholderTime)
	}
	return value
}

// replacement is the inverse: it gives a new cluster UIDs and times of its own.
type replacement struct {
	now  time.Time
	uids map[string]string
}

var holder = regexp.MustCompile(placeholderUID + `[0-9a-f]{12}`)

func newReplacement(now time.Time) *replacement {
	return &replacement{now: now, uids: map[string]string{}}
}

func (r *replacement) apply(value []byte) []byte {
	value = holder.ReplaceAllFunc(value, func(old []byte) []byte {
		uid, ok := r.uids[string(old)]
		if !ok {
			uid = newUUID()
			r.uids[string(old)] = uid
		}
		return []byte(uid)
	})
	return replaceTime(value, placeholderTime, r.now)
}

// newUUID is a random UUID (version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// replaceTime replaces both encodings of a time: the seconds of a protobuf
// Timestamp (field 1, varint) and RFC 3339 text.
func replaceTime(value []byte, old, to time.Time) []byte {
	value = bytes.ReplaceAll(value, seconds(old), seconds(to))
	return bytes.ReplaceAll(value, text(old), text(to))
}

func seconds(t time.Time) []byte {
	const field1varint = 0x08
	return binary.AppendUvarint([]byte{field1varint}, uint64(t.Unix()))
}

func text(t time.Time) []byte { return []byte(t.UTC().Format(time.RFC3339)) }
