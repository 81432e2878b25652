// Package badgerfiles holds what fossick knows about Badger beyond its API: the formats and names
// of its files, how it maps them, and the texts of its errors.
//
// In: a folder and Badger's options. Out: a Database, which is Badger's with memory released, logs
// synced without a lock, and an end to endless retries. OpenToRead is for readers, Mend for damaged
// databases.
//
// It knows one version of Badger. A build with another one, or with plain, runs without all this:
// Badger's mapped memory is then unbounded, and GOMEMLIMIT bounds only the heap. So a new Badger
// fails a test of this package but no store.
//
// Files: database.go opening, committing, closing, disk failures; lock.go the lock, and views for
// readers; check.go finding damage; mend.go repair, merging of tables; manifest.go, tables.go,
// logs.go the formats; reached.go how far commits came; trim_linux.go releasing memory.
package badgerfiles
