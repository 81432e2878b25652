package wire

import (
	"bytes"
	"testing"
)

func TestWire(t *testing.T) {
	type list struct {
		_     struct{} `cbor:",toarray"`
		Items [][]byte
	}
	d := NewDecoder(16, 4)
	var got list
	if err := d.Unmarshal(Encode(list{Items: [][]byte{{1}, {2, 3}}}), &got); err != nil || len(got.Items) != 2 || !bytes.Equal(got.Items[1], []byte{2, 3}) {
		t.Errorf("%v, %v", got, err)
	}
	if err := d.Unmarshal(Encode(list{Items: make([][]byte, 17)}), &got); err == nil {
		t.Error("17 elements are taken")
	}
	if err := d.Unmarshal(bytes.Repeat([]byte{0x81}, 9), &got); err == nil {
		t.Error("nine levels are taken")
	}
	defer func() {
		if recover() == nil {
			t.Error("a channel has bytes")
		}
	}()
	Encode(make(chan int))
}
