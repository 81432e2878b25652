CREATE TABLE communities (
    community_id bigint NOT NULL,
    label text NOT NULL,
    sites bigint NOT NULL,
    pages bigint NOT NULL
);
CREATE TABLE domains (
    domain_id bigint NOT NULL,
    domain text NOT NULL,
    sites bigint NOT NULL,
    pages bigint NOT NULL
);
CREATE TABLE sites (
    site_id bigint NOT NULL,
    domain_id bigint NOT NULL,
    community_id bigint,
    host text NOT NULL,
    index_page bigint NOT NULL,
    title text,
    description text,
    pages bigint NOT NULL
);
CREATE TABLE pages (
    page_id bigint NOT NULL,
    site_id bigint NOT NULL,
    url text NOT NULL,
    title text,
    description text,
    language text,
    label text,
    score double precision NOT NULL,
    fetched timestamp with time zone NOT NULL,
    bytes bigint NOT NULL
);
CREATE TABLE links (
    source bigint NOT NULL,
    target bigint NOT NULL
);
