// Package imagestore is a node's store of images: pulled from registries, unpacked, ready to lay containers over.
//
//	store, err := imagestore.Open(dir, imagestore.Options{Registry: "127.0.0.1:5000", Transport: …})
//	img, err := store.Pull(ctx, "nginx:1.29", nil)
//	img.Root   // the folder with its files
//	img, err = store.Current(ctx, "nginx:1.29") // what is to run now
//
// The cluster's own registry is asked first, for the name under which `slipway image load` puts an image there: the
// canonical name with the registry in front of it. An image that is not there comes from the registry that the name
// says.
//
// An image of the cluster's registry counts as present on each node, so [Store.Current] asks there what a tag leads to,
// each time. An image that was pulled under that tag before, and is another one now, is not the tag's any more.
//
// An image's files are one folder: its layers are laid over each other once, when it is pulled.
package imagestore
