-- psql -d DB -f load.sql, in the folder of this file; -v schema=NAME is another schema than converted.
\set ON_ERROR_STOP on
\if :{?schema}
\else
\set schema converted
\endif
BEGIN;
CREATE SCHEMA IF NOT EXISTS :"schema";
SET LOCAL search_path = :"schema";
\ir schema.sql
\copy communities FROM 'communities.copy' WITH (FORMAT binary)
\copy domains FROM 'domains.copy' WITH (FORMAT binary)
\copy sites FROM 'sites.copy' WITH (FORMAT binary)
\copy pages FROM 'pages.copy' WITH (FORMAT binary)
\copy links FROM 'links.copy' WITH (FORMAT binary)
ALTER TABLE communities ADD PRIMARY KEY (community_id);
ALTER TABLE domains ADD PRIMARY KEY (domain_id);
ALTER TABLE sites ADD PRIMARY KEY (site_id);
CREATE INDEX ON sites (domain_id);
CREATE INDEX ON sites (community_id);
ALTER TABLE pages ADD PRIMARY KEY (page_id);
CREATE INDEX ON pages (site_id);
ALTER TABLE links ADD PRIMARY KEY (source, target);
CREATE INDEX ON links (target);
ALTER TABLE sites ADD FOREIGN KEY (domain_id) REFERENCES domains (domain_id);
ALTER TABLE sites ADD FOREIGN KEY (community_id) REFERENCES communities (community_id);
ALTER TABLE sites ADD FOREIGN KEY (index_page) REFERENCES pages (page_id);
ALTER TABLE pages ADD FOREIGN KEY (site_id) REFERENCES sites (site_id);
ALTER TABLE links ADD FOREIGN KEY (source) REFERENCES pages (page_id);
ALTER TABLE links ADD FOREIGN KEY (target) REFERENCES pages (page_id);
COMMIT;
ANALYZE :"schema".communities, :"schema".domains, :"schema".sites, :"schema".pages, :"schema".links;
