#!/bin/sh
# The same source as films.py in plain shell, which suffices for simple ids and phrases.
pictures=http://127.0.0.1:9090/pictures/films.example
one='{"id":"1","name":"The Moon'"'"'s Gardener","originalName":"달의 정원사","releaseDate":"2026-10-28"}'
two='{"id":"2","name":"Galaxy Laundry","originalName":"은하 세탁소","releaseDate":"2026-11-04"}'
three='{"id":"3","name":"Paper Spaceship","originalName":"종이 우주선","releaseDate":"2026-09-09"}'

answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }

candidate() {
    answer "\"result\":{\"candidates\":[{\"url\":\"$pictures/$1/1000x1436/poster.jpg\",\"width\":1000,\"height\":1436,\"site\":\"films.example\"}]}"
}

# Onesheet writes keys in alphabetical order without spaces, so patterns can recognise calls.
while IFS= read -r line; do
    id=${line#'{"id":'}
    id=${id%%,*}
    case $line in
        *'"method":"initialize"'*) answer '"result":{"protocol":1}' ;;
        *'"method":"titles","params":{"date"'*) answer '"error":{"code":-32005,"message":"lists by day"}' ;;
        *'"method":"titles"'*'"page":1,'*'"phrase"'*) answer '"error":{"code":-32005,"message":"a search"}' ;;
        *'"method":"titles"'*'"page":1,'*) answer "\"result\":{\"titles\":[$one,$two,$three],\"total\":3}" ;;
        *'"method":"titles"'*) answer '"result":{"titles":[],"total":3}' ;;
        *'"method":"title","params":{"id":"1"}}') answer "\"result\":$one" ;;
        *'"method":"title","params":{"id":"2"}}') answer "\"result\":$two" ;;
        *'"method":"title","params":{"id":"3"}}') answer "\"result\":$three" ;;
        *'"method":"candidates","params":{"id":"1"}}') candidate 2026A100 ;;
        *'"method":"candidates","params":{"id":"2"}}') candidate 2026A107 ;;
        *'"method":"candidates","params":{"id":"3"}}') candidate 2026A114 ;;
        *'"method":"title"'* | *'"method":"candidates"'*) answer '"error":{"code":-32001,"message":"there is no such film"}' ;;
        *) answer '"error":{"code":-32601,"message":"unknown method"}' ;;
    esac
done
