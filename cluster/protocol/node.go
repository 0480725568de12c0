package protocol

// NodeOf is the parameter of the requests stopNode and startNode.
type NodeOf struct {
	Name    string `json:"name"`
	Logical string `json:"logical,omitempty"` // empty: the main cluster
}
