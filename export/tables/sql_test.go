package tables

import (
	"bytes"
	"encoding/hex"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fossick/internal/testkit"
)

var all = sqlTable{Name: "everything", Key: []string{"id"}, Index: []string{"at"}, Columns: []sqlColumn{
	{Name: "id", Kind: sqlInt}, {Name: "score", Kind: sqlReal}, {Name: "words", Kind: sqlText, Null: true}, {Name: "at", Kind: sqlTime},
}}

func write(t *testing.T, rows func(w *copyWriter)) []byte {
	t.Helper()
	var b bytes.Buffer
	w := newCopyWriter(&b, all)
	rows(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestBytes compares with bytes written by hand after PostgreSQL's manual.
func TestBytes(t *testing.T) {
	got := write(t, func(w *copyWriter) {
		w.Int(-2)
		w.Real(1)
		w.Text("é")
		w.Time(time.Date(2000, 1, 1, 0, 0, 1, 0, time.UTC))
		w.Int(258)
		w.Real(-0.5)
		w.Text("\x00")
		w.Time(time.Date(1999, 12, 31, 23, 59, 59, 999999000, time.UTC))
	})
	want := "5047434f50590aff0d0a00" + "00000000" + "00000000" +
		"0004" + "00000008fffffffffffffffe" + "000000083ff0000000000000" + "00000002c3a9" + "0000000800000000000f4240" +
		"0004" + "000000080000000000000102" + "00000008bfe0000000000000" + "ffffffff" + "00000008ffffffffffffffff" +
		"ffff"
	if hex.EncodeToString(got) != want {
		t.Errorf("got  %x\nwant %s", got, want)
	}
}

// TestCopy loads a file into PostgreSQL.
func TestCopy(t *testing.T) {
	testkit.Only(t, "starts a PostgreSQL")
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), testkit.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), schemaSQL([]sqlTable{all})); err != nil {
		t.Fatal(err)
	}
	at := time.Date(1987, 6, 5, 4, 3, 2, 1000, time.UTC)
	texts := []string{"cheap\x00 loans \xff of 東京\nand\t\\N more", "", "\\."}
	file := write(t, func(w *copyWriter) {
		for i, text := range texts {
			w.Int(int64(i) - 1)
			w.Real(float64(i) / 3)
			w.Text(text)
			w.Time(at.Add(time.Duration(i) * time.Hour))
		}
	})
	if _, err := conn.PgConn().CopyFrom(t.Context(), bytes.NewReader(file), "COPY everything FROM STDIN WITH (FORMAT binary)"); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), "SELECT id, score, words, at FROM everything ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; rows.Next(); n++ {
		var id int64
		var score float64
		var words *string
		var when time.Time
		if err := rows.Scan(&id, &score, &words, &when); err != nil {
			t.Fatal(err)
		}
		want := clean(texts[n])
		if id != int64(n)-1 || score != float64(n)/3 || (words == nil) != (want == "") || words != nil && *words != want || !when.Equal(at.Add(time.Duration(n)*time.Hour)) {
			t.Errorf("row %d is %d, %v, %v, %v", n, id, score, words, when)
		}
	}
	if rows.Err() != nil || n != len(texts) {
		t.Errorf("%d rows, %v", n, rows.Err())
	}
}
