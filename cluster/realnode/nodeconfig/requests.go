package nodeconfig

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Prune asks a node to remove superseded images.
type Prune struct {
	Age    time.Duration // they were superseded for longer
	Keep   []string      // digests of manifests: images that pods and workloads name by them
	DryRun bool
}

// Pruned is the answer to [Prune].
type Pruned struct {
	Images []PrunedImage
	Error  string `json:",omitempty"`
}

// PrunedImage is a superseded image.
type PrunedImage struct {
	Tag   string // that it had, in full; empty if that is not known
	ID    string
	Bytes int64 // that its files take
}

// Requests are those that a node gets.
type Requests struct {
	from *json.Decoder
	to   *json.Encoder
}

// Serve answers requests until the connection ends.
func (r *Requests) Serve(prune func(Prune) ([]PrunedImage, error)) error {
	for {
		var p Prune
		switch err := r.from.Decode(&p); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read a request: %w", err)
		}
		images, err := prune(p)
		answer := Pruned{Images: images}
		if err != nil {
			answer.Error = err.Error()
		}
		if err := r.to.Encode(answer); err != nil {
			return fmt.Errorf("answer a request: %w", err)
		}
	}
}

// Node is the other side: a node as it is asked. The node may be in the hands of what it was to keep in.
type Node struct {
	configured chan struct{} // closed once the node has its configuration
	turn       sync.Mutex    // one request after the other
	conn       Conn
	from       *bufio.Scanner
}

// Conn is a connection to a node.
type Conn interface {
	io.ReadWriteCloser
	SetDeadline(time.Time) error
}

const (
	// answerLimit bounds the wait for an answer. A node removes files meanwhile.
	answerLimit = time.Minute
	// maxAnswer is more than an answer has in bytes, with thousands of images.
	maxAnswer = 1 << 20
)

// NewNode asks over conn, which [Node.Close] closes.
func NewNode(conn Conn) *Node {
	n := &Node{configured: make(chan struct{}), conn: conn, from: bufio.NewScanner(conn)}
	n.from.Buffer(nil, maxAnswer)
	return n
}

// Configure has the connection begin with a configuration. Requests wait for it.
func (n *Node) Configure(c Config) error {
	defer close(n.configured)
	return c.Write(n.conn)
}

// Close ends the connection, and with it a request that waits.
func (n *Node) Close() error { return n.conn.Close() }

// Prune makes a request. A connection that fails takes no other one.
func (n *Node) Prune(p Prune) ([]PrunedImage, error) {
	<-n.configured
	n.turn.Lock()
	defer n.turn.Unlock()
	answer, err := n.ask(p)
	if err != nil {
		_ = n.conn.Close() // a late answer is not that of the next request
		return nil, err
	}
	if answer.Error != "" {
		return answer.Images, errors.New(answer.Error)
	}
	return answer.Images, nil
}

func (n *Node) ask(p Prune) (answer Pruned, err error) {
	if err := n.conn.SetDeadline(time.Now().Add(answerLimit)); err != nil {
		return answer, err
	}
	if err := json.NewEncoder(n.conn).Encode(p); err != nil {
		return answer, err
	}
	if !n.from.Scan() {
		return answer, errors.Join(io.ErrUnexpectedEOF, n.from.Err())
	}
	return answer, json.Unmarshal(n.from.Bytes(), &answer)
}
