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
	Age    time.Duration // remove images that were superseded for longer than this
	Keep   []string      // digests of manifests that pods and workloads refer to
	DryRun bool
}

// Pruned is the answer to [Prune].
type Pruned struct {
	Images []PrunedImage
	Error  string `json:",omitempty"`
}

// PrunedImage is an image that was removed, or would be by a dry run.
type PrunedImage struct {
	Tag   string // the full name that the image had; empty if unknown
	ID    string
	Bytes int64 // the size of its files
}

// Requests is the node's side of the connection.
type Requests struct {
	from *json.Decoder
	to   *json.Encoder
}

// Serve answers requests one by one until the connection ends.
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

// Node is the cluster's side of the connection. It does not trust the node, which a container may have taken over.
type Node struct {
	configured chan struct{} // closed after Configure
	requestMu  sync.Mutex    // serializes requests
	conn       Conn
	from       *bufio.Scanner
}

// Conn is a connection to a node.
type Conn interface {
	io.ReadWriteCloser
	SetDeadline(time.Time) error
}

const (
	// answerLimit bounds the wait for an answer: a node removes files before it answers.
	answerLimit = time.Minute
	// maxAnswer bounds an answer, in bytes. Thousands of images need less.
	maxAnswer = 1 << 20
)

// NewNode returns a Node that uses conn. [Node.Close] closes conn.
func NewNode(conn Conn) *Node {
	n := &Node{configured: make(chan struct{}), conn: conn, from: bufio.NewScanner(conn)}
	n.from.Buffer(nil, maxAnswer)
	return n
}

// Configure sends the configuration, once. Requests wait until it has returned.
func (n *Node) Configure(c Config) error {
	defer close(n.configured)
	return c.Write(n.conn)
}

// Close closes the connection. A waiting request fails.
func (n *Node) Close() error { return n.conn.Close() }

// Prune sends the request and returns the removed images. After a failed exchange it closes the connection.
func (n *Node) Prune(p Prune) ([]PrunedImage, error) {
	<-n.configured
	n.requestMu.Lock()
	defer n.requestMu.Unlock()
	answer, err := n.ask(p)
	if err != nil {
		_ = n.conn.Close() // the next request must not read a late answer
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
