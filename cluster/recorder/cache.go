package recorder

import "github.com/slipway-dev/slipway/cluster/history/delta"

// cache has the objects that were written last, within a number of bytes.
type cache struct {
	objects map[string]*delta.Object
	bytes   int
}

const maxCache = 8 << 20

// swap puts an object into the place of the one before, which it returns; nil removes it.
func (c *cache) swap(key string, o *delta.Object) *delta.Object {
	if c.objects == nil {
		c.objects = map[string]*delta.Object{}
	}
	before := c.objects[key]
	if before != nil {
		c.bytes -= before.Size + len(key)
		delete(c.objects, key)
	}
	if o == nil || o.Size > maxCache {
		return before
	}
	c.bytes += o.Size + len(key)
	c.objects[key] = o
	for other, old := range c.objects { // any will do
		if c.bytes <= maxCache {
			break
		}
		if other != key {
			c.bytes -= old.Size + len(other)
			delete(c.objects, other)
		}
	}
	return before
}
